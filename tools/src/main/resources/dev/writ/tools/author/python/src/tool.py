"""Each operation is a function of its name: it takes the input and gives the output."""


def count(input, context):
    text = input["text"]
    return {"lines": text.count("\n"), "words": len(text.split()), "characters": len(text)}
