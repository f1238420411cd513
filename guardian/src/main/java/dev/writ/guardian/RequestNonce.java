package dev.writ.guardian;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Request;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The nonce of a request, which its subject may use once in the tenant.
 *
 * @param account canonical JSON of tenant, subject and nonce, as it stands in the row of a request
 * @param key by which its uses are found
 */
record RequestNonce(String account, UsedNonces.Key key) {
  static RequestNonce of(Request request) {
    String account =
        new String(
            Jcs.write(
                JsonValue.of(
                    List.of(
                        JsonValue.of(request.scope().tenant()),
                        JsonValue.of(request.scope().subject()),
                        JsonValue.of(request.nonce())))),
            StandardCharsets.UTF_8);
    return new RequestNonce(account, UsedNonces.Key.of(account));
  }
}
