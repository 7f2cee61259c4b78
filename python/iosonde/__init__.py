"""iosonde measures a distributed file system from many nodes at once and says how far each number can be trusted."""

__version__ = "0.1.0"
