"""The simulated accelerator as a device: profiles of chips and a ledger of what is resident in memory."""
