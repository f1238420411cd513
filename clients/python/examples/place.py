"""Where the examples' server is: WRIT_URL, WRIT_ORIGIN (the log's name), WRIT_TRUST (trust.jwks), WRIT_TENANT, WRIT_SUBJECT, WRIT_KEY (a key file)."""

import os

from writ import Agent, Client, Pinned


def client() -> Client:
    agent = Agent.load(os.environ["WRIT_TENANT"], os.environ["WRIT_SUBJECT"], os.environ["WRIT_KEY"])
    pinned = Pinned.load(os.environ["WRIT_TRUST"], os.environ["WRIT_ORIGIN"])
    return Client(os.environ["WRIT_URL"], agent, pinned)
