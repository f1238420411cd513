package dev.writ.ledger.publish;

import dev.writ.canonicalize.WritException;
import java.net.URI;
import java.util.Optional;
import java.util.ServiceLoader;

/** Knows the public places of one kind by their addresses; found as a service. */
public interface PublicPlaceProvider {

  /** What its addresses begin with, such as {@code s3}. */
  String scheme();

  /**
   * The place at an address. Nothing is asked of it yet.
   *
   * @throws WritException where the address cannot be meant, or has a secret in it
   */
  PublicPlace at(URI address);

  /**
   * The place at an address of any kind that is known; empty where nobody knows it.
   *
   * @throws WritException as {@link #at}
   */
  static Optional<PublicPlace> find(URI address) {
    for (PublicPlaceProvider provider : ServiceLoader.load(PublicPlaceProvider.class)) {
      if (provider.scheme().equals(address.getScheme())) {
        return Optional.of(provider.at(address));
      }
    }
    return Optional.empty();
  }
}
