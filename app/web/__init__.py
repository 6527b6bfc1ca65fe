"""The page of `rulewright serve`: it calls what the commands call, and draws what comes back."""
