package dev.writ.ledger.seal;

import dev.writ.canonicalize.Digest;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The key of one owner, until it is destroyed. Each content is sealed under a key of its own that
 * follows from this one and the content's digest, so that the same content of an owner always has
 * the same sealed form, and no key ever seals two contents.
 */
public final class ContentKey {
  static final int BYTES = 32;

  private static final String ALGORITHM = "HmacSHA256";
  private static final byte[] LABEL = "writ-content/1".getBytes(StandardCharsets.US_ASCII);

  private final ContentOwner owner;
  private final String id;
  private final byte[] secret;

  /**
   * @param id 32 hexadecimal digits, random
   * @param secret 32 bytes, random
   */
  ContentKey(ContentOwner owner, String id, byte[] secret) {
    this.owner = owner;
    this.id = id;
    this.secret = secret.clone();
  }

  public ContentOwner owner() {
    return owner;
  }

  /** Names it in rows; says nothing of the secret. */
  public String id() {
    return id;
  }

  byte[] secret() {
    return secret.clone();
  }

  /** Seals what is written to it, into {@code to}; {@link SealedOutput#finish} ends it. */
  public SealedOutput seal(Digest content, OutputStream to) {
    return new SealedOutput(of(content), context(content), to);
  }

  /**
   * Opens what {@link #seal} made; the caller compares the digest.
   *
   * @param from the sealed form
   */
  public InputStream open(Digest content, InputStream from) {
    return new SealedInput(of(content), context(content), from, content.toString());
  }

  private byte[] of(Digest content) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      mac.update(LABEL);
      return mac.doFinal(content.bytes());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a Java without " + ALGORITHM, e);
    }
  }

  /** Additional data of each piece: whose content it is, and which. */
  private byte[] context(Digest content) {
    MessageDigest all = Digest.newSha256();
    all.update(LABEL);
    for (String part : new String[] {owner.tenant(), owner.kind(), owner.name(), id}) {
      all.update(part.getBytes(StandardCharsets.UTF_8));
      all.update((byte) 0);
    }
    return all.digest(content.bytes());
  }

  @Override
  public String toString() {
    return "key " + id + " of " + owner;
  }
}
