"""What refinement is: values, strategies, engine, models, scores. Knows no web and no SQL."""
