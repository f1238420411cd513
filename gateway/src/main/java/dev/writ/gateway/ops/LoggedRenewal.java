package dev.writ.gateway.ops;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.TlsRenewal;

/**
 * Tells the log of files of TLS that were renewed.
 *
 * @param then what is to follow: streams end where another authority knows their callers no more
 */
public record LoggedRenewal(JsonLog log, Runnable then) implements TlsRenewal.Told {
  @Override
  public void renewed(String detail) {
    log.event("tls-renewed", detail);
    then.run();
  }

  @Override
  public void refused(WritException why) {
    log.refused("tls-not-renewed", why);
  }
}
