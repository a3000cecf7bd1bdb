"""The `bringup` subcommands of this package; other packages add theirs by the entry-point group ``bringup.commands``."""
