# attempt: calls chmod, chown, setxattr and link on read-only files
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem, slot_user

denied("chmod /usr/bin/env", os.chmod, "/usr/bin/env", 0o4777)
denied("chown /usr/bin/env", os.chown, "/usr/bin/env", os.getuid(), os.getgid())
denied("setxattr /usr/bin/env", os.setxattr, "/usr/bin/env", "user.escape", b"x")
denied("utime /usr/bin/env", os.utime, "/usr/bin/env")
denied("a hard link out of /tmp", os.link, "/usr/bin/env", "/tmp/env")
denied("O_TMPFILE in /usr", os.open, "/usr", os.O_TMPFILE | os.O_WRONLY)
denied("mkdir in /", os.mkdir, "/escape")
denied("rename of /usr/bin", os.rename, "/usr/bin", "/usr/bin2")
