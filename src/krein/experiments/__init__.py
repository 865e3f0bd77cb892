"""The paper's experiments, and the numbers behind every correction of it."""
