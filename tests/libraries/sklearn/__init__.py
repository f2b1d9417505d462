"""scikit-learn: estimators' predictions and margins, trees, members, pipelines and threads."""
