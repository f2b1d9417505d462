"""The pages' examples are tests; the programs that build the site are not."""

collect_ignore_glob = ["*.py", "generated/*"]
