"""A function of this process that is judged before it runs and reported after."""

import os

import place
from writ import Denied, PermittedBefore
from writ.functions import governed

with place.client() as client:

    @governed(client, run=os.environ["WRIT_RUN"], key=lambda order, amount: f"{os.environ['WRIT_RUN']}/{order}")
    def refund(order: str, amount: float) -> str:
        return f"refunded {amount} of {order}"

    print(refund("4711", 20))
    try:
        refund("4711", amount=20)
    except PermittedBefore as e:
        print(e.code)
    try:
        refund("4712", 2000)
    except Denied as e:
        print(e.outcome.verdict, e.outcome.code)
