package dev.writ.gateway.http.auth;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import javax.security.auth.x500.X500Principal;

/**
 * Authenticates callers by TLS client certificates. The handshake has verified that the authority
 * of {@code client_ca} issued the certificate. The caller is found by the certificate's subject
 * name (RFC 4514), so that a renewed certificate is the same caller.
 */
public final class Certificates {
  /** The method's name in {@code origin} and in logs. */
  public static final String METHOD = "mtls";

  /**
   * A certificate in the configuration.
   *
   * @param name its name in logs and in {@code origin}
   * @param dn the whole subject name
   * @param roles roles that it is narrowed to; empty for all that policy gives the subject
   */
  public record Entry(
      String name, X500Principal dn, String tenant, String subject, List<String> roles) {
    public Entry {
      roles = List.copyOf(roles);
    }
  }

  private final List<Entry> entries;

  /**
   * @throws WritException {@code GWY-002} where two have one name, or one subject name
   */
  public Certificates(List<Entry> entries) {
    this.entries = List.copyOf(entries);
    long names = entries.stream().map(Entry::name).distinct().count();
    long dns = entries.stream().map(Entry::dn).distinct().count();
    if (names < entries.size() || dns < entries.size()) {
      throw new WritException(GatewayError.CONFIG_FIELD, "two certificates have one name");
    }
  }

  /**
   * @param now the time of the call: connections live long, so the certificate's validity is
   *     checked for each call
   * @throws WritException {@code GWY-020}
   */
  public Caller caller(X509Certificate certificate, Instant now) {
    try {
      certificate.checkValidity(Date.from(now));
    } catch (CertificateException e) {
      throw new WritException(
          GatewayError.NOT_AUTHENTICATED, "the client certificate is out of its time", e);
    }
    Entry entry =
        find(certificate.getSubjectX500Principal())
            .orElseThrow(() ->
                new WritException(
                    GatewayError.NOT_AUTHENTICATED, "the client certificate's name is not known"));
    return new Caller(
        METHOD,
        entry.name(),
        fingerprint(certificate),
        entry.tenant(),
        entry.subject(),
        entry.roles(),
        Optional.of(certificate.getNotAfter().toInstant()));
  }

  /** SHA-256 of the certificate, as everywhere where people compare them. */
  private static String fingerprint(X509Certificate certificate) {
    try {
      return Digest.sha256(certificate.getEncoded()).hex();
    } catch (CertificateException e) {
      throw new WritException(
          GatewayError.NOT_AUTHENTICATED, "the client certificate cannot be read", e);
    }
  }

  /** Whether a caller that a certificate showed is configured as it was. */
  boolean stillKnows(Caller earlier) {
    return earlier.method().equals(METHOD)
        && entries.stream()
            .anyMatch(entry ->
                entry.name().equals(earlier.principal())
                    && entry.tenant().equals(earlier.tenant())
                    && entry.subject().equals(earlier.subject())
                    && entry.roles().equals(earlier.roles()));
  }

  /** Whether it is the certificate of a configured caller. */
  public boolean knows(X509Certificate certificate) {
    return find(certificate.getSubjectX500Principal()).isPresent();
  }

  private Optional<Entry> find(X500Principal dn) {
    return entries.stream().filter(entry -> entry.dn().equals(dn)).findFirst();
  }
}
