# attempt: sends ioctl commands to file systems (freeze, trim, clone, encrypt) and the entropy pool
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: capabilities, slot_user, root_filesystem

import fcntl

library = os.open(torch.__file__, os.O_RDONLY)
commands = {
    "FIFREEZE": 0xC0045877,
    "FITHAW": 0xC0045878,
    "FITRIM": 0xC0185879,
    "FIBMAP": 0x1,
    "FS_IOC_SETFLAGS": 0x40086602,
    "FS_IOC_FSSETXATTR": 0x401C5820,
    "FS_IOC_ENABLE_VERITY": 0x40806685,
    "FS_IOC_SET_ENCRYPTION_POLICY": 0x800C6613,
    "FS_IOC_ADD_ENCRYPTION_KEY": 0xC0506617,
    "FS_IOC_SETVERSION": 0x40087602,
    "EXT4_IOC_MIGRATE": 0x6609,
    "EXT4_IOC_SWAP_BOOT": 0x6611,
    "EXT4_IOC_SHUTDOWN": 0x8004587D,
    "FICLONE": 0x40049409,
}
for name, command in commands.items():
    denied(name, fcntl.ioctl, library, command, bytes(128))
for path, names in {
    "/dev/urandom": {
        "RNDADDTOENTCNT": 0x40045201,
        "RNDADDENTROPY": 0x40085203,
        "RNDCLEARPOOL": 0x5206,
    }
}.items():
    device = os.open(path, os.O_RDONLY)
    for name, command in names.items():
        denied(name, fcntl.ioctl, device, command, bytes(16))
