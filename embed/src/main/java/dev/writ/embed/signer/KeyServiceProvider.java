package dev.writ.embed.signer;

/**
 * A kind of services that keep private keys and sign with them, such as a cloud's KMS. It is found
 * by {@link java.util.ServiceLoader}.
 */
public interface KeyServiceProvider {
  /** What the URIs of its keys begin with, for example {@code awskms:}. */
  String prefix();

  /**
   * Asks for the public half of a key.
   *
   * @param uri with the prefix
   * @throws dev.writ.canonicalize.WritException {@code SGN-020} for a URI that is not understood,
   *     {@code SGN-021} to {@code SGN-029} where the key cannot be used
   */
  RemoteKey open(String uri);
}
