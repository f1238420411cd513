package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.egress.Broker;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.Masking;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A secret in the form of git's own store: {@code https://user:password@host[:port]}, user and
 * password percent-encoded. The host is part of it, so that a caller who may name the secret cannot
 * have it sent elsewhere.
 */
final class GitCredential {
  private static final Pattern FORM =
      Pattern.compile("https://([^:/@\\s]+):([^:/@\\s]+)@([A-Za-z0-9.-]+(:[0-9]{1,5})?)/?");

  private final RemoteUrl place;
  private final Broker.Credential credential;
  private final String password;

  private GitCredential(RemoteUrl place, String user, String password) {
    this.place = place;
    this.credential = Broker.Credential.basic(user, password);
    this.password = password;
  }

  /**
   * @throws WritException {@code TOL-076}, {@code SBX-030}; never with a part of the secret
   */
  static GitCredential read(byte[] secret) {
    int length = secret.length;
    while (length > 0 && (secret[length - 1] == '\n' || secret[length - 1] == '\r')) {
      length--;
    }
    Matcher found = FORM.matcher(utf8(Arrays.copyOf(secret, length)));
    if (!found.matches()) {
      throw refused("it is not https://user:password@host");
    }
    RemoteUrl place;
    try {
      place = RemoteUrl.parse("https://" + found.group(3) + "/any");
    } catch (WritException e) {
      throw refused("its host is not plain"); // without the cause, which might reveal the secret
    }
    return new GitCredential(place, decoded(found.group(1)), decoded(found.group(2)));
  }

  private static String decoded(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate(bytes.length);
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] != '%') {
        out.put(bytes[i]);
        continue;
      }
      if (i + 2 >= bytes.length
          || !HexFormat.isHexDigit(bytes[i + 1])
          || !HexFormat.isHexDigit(bytes[i + 2])) {
        throw refused("its percent-encoding is broken");
      }
      out.put(
          (byte)
              (HexFormat.fromHexDigit(bytes[i + 1]) << 4 | HexFormat.fromHexDigit(bytes[i + 2])));
      i += 2;
    }
    return utf8(Arrays.copyOf(out.array(), out.position()));
  }

  private static String utf8(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw refused("it is not UTF-8");
    }
  }

  /**
   * The credential, for a place.
   *
   * @throws WritException {@code TOL-076} where it is for another
   */
  Broker.Credential at(RemoteUrl url) {
    if (!place.host().equals(url.host()) || place.port() != url.port()) {
      throw refused("it is for another host or port than the URL's");
    }
    return credential;
  }

  /** Masks the password in output; the stored secret as a whole is masked elsewhere. */
  Masking masking() {
    return new Masking(
        List.of(new SecretFile("password", password.getBytes(StandardCharsets.UTF_8))));
  }

  private static WritException refused(String why) {
    return new WritException(ToolsError.GIT_CREDENTIAL, why);
  }

  @Override
  public String toString() {
    return "GitCredential";
  }
}
