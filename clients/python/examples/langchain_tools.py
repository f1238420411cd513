"""Tools of Writ for LangChain (`pip install langchain-core`)."""

import os

import place
from writ.adapters.langchain import langchain_tools

with place.client() as client:
    tools = langchain_tools(client, only=lambda o: o.tool == "js", run=os.environ["WRIT_RUN"])
    (js,) = tools  # for create_agent(model, tools)
    print(js.name, js.invoke({"source": "6*7"}))
    print(js.invoke({"source": "throw new Error('no such order')"}))
