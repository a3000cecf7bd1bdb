"""Audio: speech recognisers, classifiers and codecs on tiny waveforms and spectrograms."""

from __future__ import annotations

from functools import partial
from typing import Any

from bringup_coverage.architectures.encoder_decoders import WIDTHS
from bringup_coverage.architectures.row import BATCH, Architecture, Inputs, assemble
from bringup_coverage.architectures.tokens import SIZES, identifiers

SAMPLES = 400
BINS, FRAMES = 16, 32


def wave(*shape: int) -> Any:
    """Random float32 samples, by default of shape (batch, samples)."""
    import torch

    return torch.randn(shape or (BATCH, SAMPLES))


def _transcribed(_: Any) -> dict[str, Any]:
    return {"input_values": wave(), "labels": identifiers(length=4)}


def _alone(_: Any) -> dict[str, Any]:
    return {"input_values": wave()}


def _mono(_: Any) -> dict[str, Any]:
    return {"input_values": wave(BATCH, 1, SAMPLES)}


def _features(_: Any) -> dict[str, Any]:
    return {"input_features": wave(BATCH, BINS, FRAMES), "labels": identifiers(length=8)}


def _frames_first(_: Any) -> dict[str, Any]:
    return {"input_features": wave(BATCH, FRAMES, BINS), "labels": identifiers(length=8)}


def _spectrogram(_: Any) -> dict[str, Any]:
    import torch

    return {"input_values": wave(BATCH, FRAMES, BINS), "labels": torch.arange(BATCH)}


def _moonshine(_: Any) -> dict[str, Any]:
    return {"input_values": wave(BATCH, 1600), "labels": identifiers(length=8)}


def audio(model_type: str, *, head: str, inputs: Inputs, **settings: Any) -> Architecture:
    """A model of sounds."""
    return Architecture(model_type, "audio", partial(assemble, model_type, head, settings, inputs))


WAVE: dict[str, Any] = {
    **SIZES,
    "conv_dim": [16, 16],
    "conv_stride": [5, 4],
    "conv_kernel": [10, 4],
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 4,
    "classifier_proj_size": 16,
    "codevector_dim": 16,
    "proj_codevector_dim": 16,
    "num_codevectors_per_group": 8,
    "tdnn_dim": [16],
    "tdnn_kernel": [3],
    "tdnn_dilation": [1],
}
"""As wav2vec 2.0 and its descendants call them."""

_SPEECH: dict[str, Any] = {
    "vocab_size": 99,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "use_cache": False,
    **WIDTHS,
}


def recogniser(model_type: str, **settings: Any) -> Architecture:
    """A speech recogniser with its CTC loss."""
    return audio(model_type, head="AutoModelForCTC", inputs=_transcribed, **WAVE | settings)


AUDIO: tuple[Architecture, ...] = (
    audio(
        "audio-spectrogram-transformer",
        head="AutoModelForAudioClassification",
        inputs=_spectrogram,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        patch_size=8,
        frequency_stride=4,
        time_stride=4,
        max_length=FRAMES,
        num_mel_bins=BINS,
        num_labels=3,
    ),
    audio(
        "dac",
        head="DacModel",
        inputs=_mono,
        encoder_hidden_size=8,
        downsampling_ratios=[2, 4],
        upsampling_ratios=[4, 2],
        decoder_hidden_size=16,
        n_codebooks=2,
        codebook_size=16,
        codebook_dim=4,
    ),
    recogniser("data2vec-audio", conv_pos_kernel_size=3),
    audio(
        "encodec",
        head="EncodecModel",
        inputs=_mono,
        hidden_size=16,
        num_filters=4,
        upsampling_ratios=[4, 2],
        num_lstm_layers=1,
        codebook_size=16,
        codebook_dim=16,
        target_bandwidths=[24.0],
        sampling_rate=2400,
    ),
    recogniser("hubert"),
    audio(
        "moonshine",
        head="AutoModelForSpeechSeq2Seq",
        inputs=_moonshine,
        encoder_num_hidden_layers=2,
        decoder_num_hidden_layers=2,
        encoder_num_attention_heads=4,
        decoder_num_attention_heads=4,
        decoder_start_token_id=1,
        **SIZES,
    ),
    recogniser("sew"),
    recogniser("sew-d", position_buckets=8),
    audio(
        "speech_to_text",
        head="AutoModelForSpeechSeq2Seq",
        inputs=_frames_first,
        conv_channels=16,
        conv_kernel_sizes=[3, 3],
        input_feat_per_channel=BINS,
        max_source_positions=64,
        max_target_positions=64,
        **_SPEECH,
    ),
    recogniser("unispeech"),
    recogniser("unispeech-sat"),
    recogniser("wav2vec2"),
    audio(
        "wav2vec2-bert",
        head="AutoModelForCTC",
        inputs=_frames_first,
        feature_projection_input_dim=BINS,
        conv_depthwise_kernel_size=3,
        **SIZES,
    ),
    recogniser("wav2vec2-conformer", conv_depthwise_kernel_size=3),
    recogniser("wavlm", num_buckets=8, max_bucket_distance=16),
    audio(
        "whisper",
        head="AutoModelForSpeechSeq2Seq",
        inputs=_features,
        num_mel_bins=BINS,
        max_source_positions=FRAMES // 2,
        max_target_positions=64,
        suppress_tokens=None,
        begin_suppress_tokens=None,
        **_SPEECH,
    ),
)
