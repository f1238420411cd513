package dev.writ.kms;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Computes the signature of a request again, as AWS Signature Version 4 describes it, without the
 * client's code.
 *
 * @param keyId of the credentials
 * @param region of the credential's scope
 * @param holds whether the signature is that of this request by the secret
 */
record SignedCall(String keyId, String region, boolean holds) {
  private static final Pattern HEADER =
      Pattern.compile(
          "AWS4-HMAC-SHA256 Credential=([A-Za-z0-9-]+)/([0-9]{8})/([a-z0-9-]+)/kms/aws4_request, "
              + "SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})");

  /**
   * @param headers their values, by names in lower case
   * @return empty where the request has no such signature
   */
  static Optional<SignedCall> read(Function<String, String> headers, byte[] body, String secret)
      throws GeneralSecurityException {
    String given = headers.apply("authorization");
    Matcher parts = HEADER.matcher(given == null ? "" : given);
    if (!parts.matches()) {
      return Optional.empty();
    }
    List<String> names = List.of(parts.group(4).split(";"));
    if (!names.containsAll(List.of("host", "x-amz-date", "x-amz-target"))) {
      return Optional.empty();
    }
    StringBuilder canonical = new StringBuilder("POST\n/\n\n");
    for (String name : names) {
      canonical.append(name.toLowerCase(Locale.ROOT)).append(':');
      canonical.append(headers.apply(name).strip().replaceAll(" +", " ")).append('\n');
    }
    canonical.append('\n').append(parts.group(4)).append('\n').append(sha256(body));
    String scope = parts.group(2) + "/" + parts.group(3) + "/kms/aws4_request";
    String text =
        "AWS4-HMAC-SHA256\n"
            + headers.apply("x-amz-date")
            + "\n"
            + scope
            + "\n"
            + sha256(canonical.toString().getBytes(StandardCharsets.UTF_8));
    byte[] key = ("AWS4" + secret).getBytes(StandardCharsets.UTF_8);
    for (String step : List.of(parts.group(2), parts.group(3), "kms", "aws4_request", text)) {
      key = hmac(key, step);
    }
    return Optional.of(
        new SignedCall(
            parts.group(1), parts.group(3), HexFormat.of().formatHex(key).equals(parts.group(5))));
  }

  private static String sha256(byte[] bytes) throws GeneralSecurityException {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  private static byte[] hmac(byte[] key, String text) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
  }
}
