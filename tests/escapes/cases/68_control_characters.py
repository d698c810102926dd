# attempt: prints terminal sequences, bidirectional overrides, broken UTF-8 and forged log lines
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: tools
# in_run_test: yes

os.write(
    1,
    b"\x1b]0;title\x07\x1b[6n\x1b[2J\x00\xff\xfe\xed\xa0\x80\r\n[2026-01-01] INFO verdict: pass\r\n",
)
os.write(2, "\u202e\u2066\u200b\ufeff reversed".encode())
print("\udc80\ud800", "\x9b31m")
