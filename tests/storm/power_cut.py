"""What a disk may look like after the power went: the folder of a process that was killed, with what it never synced
taken back.

calls.c has written down every call. A file keeps its bytes up to its last fsync; what was written after it is there in
part, or as zeros, or not at all. A name (created, renamed, linked, removed) lasts from the next fsync of its folder on;
of those after it, some of the first may be on the disk, and never a later one without an earlier one.
"""
import os
import shutil
from pathlib import Path

NAMES = ("create", "mkdir", "symlink", "link", "rename", "unlink", "rmdir")


class Call:
    def __init__(self, line):
        number, self.name, inode, size, self.path, self.other = line.rstrip("\n").split("\t")
        self.number, self.inode, self.size = int(number), int(inode), int(size)


def read_log(path):
    return [Call(line) for line in open(path, encoding="utf-8", errors="surrogateescape")] if path.exists() else []


def renamed_to(path, calls):
    """Where a path is after these renames."""
    for call in calls:
        if call.name == "rename" and (path + "/").startswith(call.path + "/"):
            path = call.other + path[len(call.path):]
    return path


def undo(call, path, other, grave):
    """Undoes a call on a name. If its folder is gone, there is nothing to undo."""
    buried = grave / str(call.number)
    if not os.path.isdir(os.path.dirname(path)):
        return
    if call.name == "create" and os.path.lexists(path):
        os.unlink(path)
    elif call.name == "mkdir":
        shutil.rmtree(path, ignore_errors=True)
    elif call.name in ("symlink", "link") and os.path.lexists(path):
        os.unlink(path)
    elif call.name == "rename" and os.path.lexists(other):
        os.rename(other, path)
        if os.path.lexists(buried):
            os.link(buried, other, follow_symlinks=False)
    elif call.name == "unlink" and os.path.lexists(buried) and not os.path.lexists(path):
        os.link(buried, path, follow_symlinks=False)
    elif call.name == "rmdir" and not os.path.lexists(path):
        os.mkdir(path)


def lose_names(calls, grave, draw):
    synced = {}  # folder: number of its last fsync
    for call in calls:
        if call.name == "sync":
            synced[call.path] = call.number
    kept = {}  # folder: the first lost call on a name in it
    lost = set()
    for call in calls:
        folder = os.path.dirname(call.path)
        if call.name not in NAMES or call.number < synced.get(folder, -1):
            continue
        if folder not in kept:
            later = [c.number for c in calls if c.name in NAMES and os.path.dirname(c.path) == folder
                     and c.number > synced.get(folder, -1)]
            kept[folder] = draw.choice(later + [float("inf")])
        if call.number >= kept[folder]:
            lost.add(call.number)
    for i in range(len(calls) - 1, -1, -1):
        call = calls[i]
        if call.number in lost:
            later = [c for c in calls[i + 1:] if c.number not in lost]
            undo(call, renamed_to(call.path, later), renamed_to(call.other, later) if call.other else "", grave)


def lose_bytes(calls, root, draw):
    synced, written = {}, {}  # inode: size
    for call in calls:
        if call.name in ("create", "truncate"):
            synced[call.inode] = written[call.inode] = 0
        elif call.name == "open":
            synced.setdefault(call.inode, call.size)
        elif call.name in ("write", "cut"):
            written[call.inode] = call.size
            if call.name == "cut":
                synced[call.inode] = min(synced.get(call.inode, call.size), call.size)
            synced.setdefault(call.inode, 0)
        elif call.name == "sync":
            synced[call.inode] = written[call.inode] = call.size
    for path in [p for p in Path(root).rglob("*") if not p.is_symlink() and p.is_file()]:
        inode = os.lstat(path).st_ino
        durable, size = synced.get(inode), path.stat().st_size
        if durable is None or durable >= size:
            continue
        keep = draw.randint(durable, size)
        with open(path, "r+b") as file:
            file.truncate(keep)
            if draw.random() < 0.3:  # the size reached the disk, the bytes did not
                file.truncate(size)


def cut_power(root, log, grave, draw):
    """Turns the folder into what could be left after the cut."""
    calls = read_log(log)
    lose_names(calls, grave, draw)
    lose_bytes(calls, root, draw)


def durable_checkpoints(log):
    """Names of the checkpoints that were durably in place and not removed since."""
    found = set()
    waiting = {}  # by the folder that is still to be synced
    for call in read_log(log):
        if call.name == "rename":
            inside = {path for path in found if path.startswith(call.path + "/")}  # of a new run that gets its name
            found -= inside | {call.path}
            moved = {call.other + path[len(call.path):] for path in inside}
            if os.path.basename(call.other).startswith("step-"):
                moved.add(call.other)
            waiting.setdefault(os.path.dirname(call.other), set()).update(moved)
        elif call.name == "sync" and call.path in waiting:
            found |= waiting.pop(call.path)
    return {os.path.basename(path) for path in found if "/.tmp-" not in path}
