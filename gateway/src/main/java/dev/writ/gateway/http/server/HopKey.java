package dev.writ.gateway.http.server;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Client;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret that the gateways of an installation share. With it one tells another, in a header of
 * the request that it forwards, whose request it is; nobody else can say so (spec/cells.md).
 */
public final class HopKey {
  /** The header that a forwarded request has. */
  public static final String HEADER = "Writ-Forwarded";

  /** How far the clocks of two gateways may be apart. */
  private static final Duration AGE_MAX = Duration.ofMinutes(5);

  private static final int BYTES = 32;
  private static final String CONTEXT = "writ/forwarded/v1";
  private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

  private final SecretKeySpec key;

  /**
   * @param secret 32 random bytes
   */
  public HopKey(byte[] secret) {
    if (secret.length != BYTES) {
      throw new IllegalArgumentException("not 32 bytes");
    }
    this.key = new SecretKeySpec(secret, "HmacSHA256");
  }

  /** A secret for another purpose that follows from this one. */
  public byte[] derived(String purpose) {
    return mac(purpose);
  }

  /**
   * The header's value.
   *
   * @param to the address of the gateway that it is for
   * @param cell that the request is for
   */
  public String sign(String method, String uri, String to, int cell, Client client, Instant now) {
    List<String> chain = new ArrayList<>();
    try {
      for (X509Certificate each : client.chain()) {
        chain.add(ENCODER.encodeToString(each.getEncoded()));
      }
    } catch (CertificateEncodingException e) {
      throw new IllegalStateException(e); // it came from the wire
    }
    String said =
        ENCODER.encodeToString(
            Jcs.write(
                JsonValue.object()
                    .put("address", client.address())
                    .put("at", now)
                    .put("cell", cell)
                    .putList("certificates", chain, JsonValue::of)
                    .build()));
    return said + "." + ENCODER.encodeToString(mac(signed(method, uri, to, said)));
  }

  /**
   * What a gateway says of a request.
   *
   * @param client whose it is
   * @param cell that it is for
   */
  public record Said(Client client, int cell) {}

  /**
   * Whose request it is, and for which cell.
   *
   * @throws WritException {@code GWY-193} where no gateway of the installation says so
   */
  public Said verify(String header, String method, String uri, String own, Instant now) {
    int dot = header.indexOf('.');
    String said = dot < 0 ? "" : header.substring(0, dot);
    try {
      byte[] mac = Base64.getUrlDecoder().decode(header.substring(dot + 1));
      if (dot < 0 || !MessageDigest.isEqual(mac, mac(signed(method, uri, own, said)))) {
        throw refused("it is not signed with the installation's secret");
      }
      Fields fields = Fields.of("forwarded", Jcs.parse(Base64.getUrlDecoder().decode(said)));
      String address = fields.name("address");
      Instant at = fields.time("at");
      long cell = fields.optional("cell", fields::count).orElse(0L); // a gateway of before has one
      List<X509Certificate> chain = new ArrayList<>();
      CertificateFactory certificates = CertificateFactory.getInstance("X.509");
      for (String each : fields.list("certificates", Fields::stringItem)) {
        byte[] bytes = Base64.getUrlDecoder().decode(each);
        chain.add(
            (X509Certificate) certificates.generateCertificate(new ByteArrayInputStream(bytes)));
      }
      fields.end();
      if (Duration.between(at, now).abs().compareTo(AGE_MAX) > 0) {
        throw refused("it is of " + at + ": the gateways' clocks are apart");
      }
      return new Said(
          new Client(address, chain, new Client.LetIn()), (int) Math.min(cell, Integer.MAX_VALUE));
    } catch (IllegalArgumentException | GeneralSecurityException e) {
      throw new WritException(GatewayError.NOT_A_GATEWAY, e.getClass().getSimpleName(), e);
    }
  }

  private static WritException refused(String found) {
    return new WritException(GatewayError.NOT_A_GATEWAY, found);
  }

  private static String signed(String method, String uri, String to, String said) {
    return String.join("\n", CONTEXT, method, uri, to, said);
  }

  private byte[] mac(String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(key);
      return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // every JDK has it
    }
  }
}
