import json


class StructuredTool:
    """`from_function` takes and `invoke` does what those of langchain-core 1.6 do with a JSON Schema as `args_schema`."""

    def __init__(self, func, coroutine, name, description, args_schema):
        if not description:
            raise ValueError("Function must have a docstring if description not provided.")
        json.dumps(args_schema)
        self.func, self.coroutine, self.name = func, coroutine, name
        self.description, self.args_schema = description, args_schema

    @classmethod
    def from_function(cls, func=None, coroutine=None, name=None, description=None, *, args_schema=None):
        return cls(func, coroutine, name, description, args_schema)

    def invoke(self, input, config=None):
        return self.func(**input)
