# attempt: nothing; this is an honest submission
# expect: pass
# needs: nothing
# defence: none_needed
