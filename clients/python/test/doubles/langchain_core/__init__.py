"""A double of what the adapter uses of langchain-core, which ./check has no registry to fetch from."""
