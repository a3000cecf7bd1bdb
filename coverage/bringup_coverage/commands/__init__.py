"""The `bringup` subcommands of this package."""
