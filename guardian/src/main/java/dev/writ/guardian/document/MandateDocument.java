package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;

/**
 * A mandate that somebody outside of Writ issued, brought as evidence (spec/mandate.md). The
 * request's agent or surface signs it as its bringer; what it is worth, the issuer's signature
 * says.
 *
 * @param mandate an SD-JWT with its disclosures and key binding JWT, as it was presented
 */
public record MandateDocument(String mandate) {
  public static final String TYPE = PayloadTypes.of("mandate");

  public static MandateDocument read(JsonValue document) {
    Fields fields = Fields.of("mandate", document);
    MandateDocument read = new MandateDocument(fields.string("mandate"));
    fields.end();
    return read;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object().put("mandate", mandate).build();
  }

  /**
   * What the {@code nonce} of a key binding JWT has to be for a request: SHA-256, in base64url, of
   * what is asked, by whom and where. It leaves out the evidence, which the JWT is part of.
   */
  public static String challenge(Request request) {
    Digest digest =
        Jcs.digest(
            JsonValue.object()
                .put("effect", request.effect().digest())
                .put("nonce", request.nonce())
                .put("run", request.scope().run())
                .put("subject", request.scope().subject())
                .put("tenant", request.scope().tenant())
                .build());
    return StrictBase64.encodeUrl(digest.bytes());
  }
}
