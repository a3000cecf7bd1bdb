"""All architectures, by kind."""

from __future__ import annotations

from bringup_coverage.architectures.audio import AUDIO
from bringup_coverage.architectures.decoders import DECODERS
from bringup_coverage.architectures.encoder_decoders import ENCODER_DECODERS
from bringup_coverage.architectures.encoders import ENCODERS
from bringup_coverage.architectures.experts import EXPERTS
from bringup_coverage.architectures.multimodal import MULTIMODAL
from bringup_coverage.architectures.row import Architecture
from bringup_coverage.architectures.stages import STAGES
from bringup_coverage.architectures.state_space import STATE_SPACE
from bringup_coverage.architectures.vision import VISION

ARCHITECTURES: tuple[Architecture, ...] = (
    *DECODERS,
    *ENCODERS,
    *ENCODER_DECODERS,
    *VISION,
    *STAGES,
    *AUDIO,
    *MULTIMODAL,
    *EXPERTS,
    *STATE_SPACE,
)
