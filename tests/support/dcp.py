"""PyTorch's distributed checkpoint (torch 2) without torch: "__{rank}_0.distcp" with the zips of torch.save one after
another, then ".metadata", a pickle of torch's own classes, which says what lies where. Standard library only."""

import io
import pickle
import sys
import types
import zipfile

PLANNED = "torch.distributed.checkpoint"


class Metadata:
    """storage_data: which bytes of which file each item is."""

    def __init__(self, storage_data):
        self.state_dict_metadata = {}
        self.planner_data = None
        self.storage_data = storage_data


class MetadataIndex:
    def __init__(self, fqn):
        self.fqn, self.offset, self.index = fqn, None, None


class _StorageInfo:
    def __init__(self, relative_path, offset, length):
        self.relative_path, self.offset, self.length = relative_path, offset, length


for name, classes in ((f"{PLANNED}.metadata", (Metadata, MetadataIndex)), (f"{PLANNED}.filesystem", (_StorageInfo,))):
    module = sys.modules.setdefault(name, types.ModuleType(name))
    for one in classes:
        one.__module__ = name
        setattr(module, one.__name__, one)
for name in ("torch", "torch.distributed", PLANNED):
    sys.modules.setdefault(name, types.ModuleType(name))


def torch_save(value):
    """What torch.save writes, with bytes for a tensor's."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(None, 2))
        archive.writestr("archive/data/0", value)
        archive.writestr("archive/version", "3\n")
    return file.getvalue()


def torch_load(text):
    with zipfile.ZipFile(io.BytesIO(text)) as archive:
        return archive.read("archive/data/0")


def save(place, items, between=lambda: None):
    """items: one dict a rank, name to bytes. In place; `between` is called after each rank's file."""
    place.mkdir(parents=True, exist_ok=True)
    stored = {}
    for rank, named in enumerate(items):
        file = f"__{rank}_0.distcp"
        with (place / file).open("wb") as out:
            for name, value in named.items():
                text = torch_save(value)
                stored[MetadataIndex(name)] = _StorageInfo(file, out.tell(), len(text))
                out.write(text)
        between()
    (place / ".metadata").write_bytes(pickle.dumps(Metadata(stored), 2))


def load(place):
    """Name to bytes, of all ranks."""
    metadata = pickle.loads((place / ".metadata").read_bytes())
    found = {}
    for index, info in metadata.storage_data.items():
        with (place / info.relative_path).open("rb") as file:
            file.seek(info.offset)
            found[index.fqn] = torch_load(file.read(info.length))
    return found
