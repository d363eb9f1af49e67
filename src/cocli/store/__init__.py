"""Objects under keys, in a folder, in memory or on S3: `open_store` opens the one that an address names."""

from cocli.store.base import ObjectInfo, Put, Store, StoredObject
from cocli.store.opening import open_store

__all__ = ["ObjectInfo", "Put", "Store", "StoredObject", "open_store"]
