# attempt: nothing: an honest submission
# expect: pass
# tier: C
# defence: allowed
