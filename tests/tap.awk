# SPDX-License-Identifier: GPL-3.0-or-later
# Counts the TAP lines of one program or script. Prints PASSED, FAILED, SKIPPED and, where what it
# told cannot be all, what is wrong with it: it has ended with an error that none of its lines
# names, has told nothing, has no plan (1..N), or another number of lines than its plans say.
#   awk -f tap.awk -v status=EXIT_STATUS FILE
/^(not )?ok / {
	told++
	if (/# SKIP/) skipped++
	else if (/^not/) failed++
	else passed++
}
/^1\.\.[0-9]+$/ {
	plans++
	planned += substr($0, 4)
}
END {
	if (status != 0 && !failed) wrong = "ended with status " status (status == 124 ? ", out of time" : "")
	else if (!told) wrong = "told nothing"
	else if (status == 0 && !plans) wrong = "ended without its plan"
	else if (plans && told != planned) wrong = "told " told " results, its plan is " planned
	print passed + 0, failed + 0, skipped + 0, wrong
}
