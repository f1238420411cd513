package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.fixture.TestMandate;
import dev.writ.guardian.document.Request;
import java.util.List;

/**
 * A request of alice's that brings a mandate.
 *
 * @param nonce also what the payment is called
 * @param about what is wrong or right with it
 * @param wanted the verdict, with the code of a denial
 * @param mandates those that are brought; none: a payment without
 */
record Payment(
    String nonce,
    String about,
    String wanted,
    String tool,
    String params,
    List<TestMandate> mandates) {

  ObjectBuilder step() {
    Plot.Ask asked = ask("alice", tool, nonce).params(params);
    // The evidence is no part of what a mandate is bound to.
    Request request = Request.read(asked.document());
    List<Envelope> brought = mandates.stream().map(m -> m.envelope(request, "alice")).toList();
    return asked
        .with(
            "evidence",
            JsonValue.of(
                brought.stream()
                    .map(one -> JsonValue.of(one.id().toString()))
                    .map(JsonValue.class::cast)
                    .toList()))
        .submit()
        .putList("evidence", brought, Envelope::toJson);
  }
}
