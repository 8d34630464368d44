#!/bin/bash
# A configured merge driver exits 0 without merging, so one side's edit vanishes inside a "clean" merge.
# CALL: integrate_branch {"sourceBranch":"feature","targetBranch":"main"} @repo
# EXPECT: the driver acts, as for the user's own git merge, and every path that it decided is named. Never a bare success.
. "$(dirname "$0")/_lib.sh"
diverged
git config merge.mine.driver true
echo '* merge=mine' > .git/info/attributes
