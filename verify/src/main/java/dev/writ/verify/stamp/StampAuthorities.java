package dev.writ.verify.stamp;

import dev.writ.canonicalize.WritException;
import dev.writ.verify.error.BundleError;
import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathBuilder;
import java.security.cert.CertStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.CollectionCertStoreParameters;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The authorities that a verifier believes to certify those who stamp. */
public final class StampAuthorities {
  /** Nobody is believed. */
  public static final StampAuthorities NONE = new StampAuthorities(List.of());

  private final List<X509Certificate> roots;

  private StampAuthorities(List<X509Certificate> roots) {
    this.roots = List.copyOf(roots);
  }

  /**
   * Reads certificates in PEM. Each of them is believed as it is, whoever issued it.
   *
   * @throws WritException {@code RPL-089} for what is no certificate, and where there is none
   */
  public static StampAuthorities parse(byte[] pem) {
    List<X509Certificate> roots = new ArrayList<>();
    try {
      CertificateFactory.getInstance("X.509")
          .generateCertificates(new ByteArrayInputStream(pem))
          .forEach(one -> roots.add((X509Certificate) one));
    } catch (CertificateException e) {
      throw new WritException(
          BundleError.STAMP_SIGNER, "the file of the authorities has no certificates in PEM", e);
    }
    if (roots.isEmpty()) {
      throw new WritException(
          BundleError.STAMP_SIGNER, "the file of the authorities has no certificates in PEM");
    }
    return new StampAuthorities(roots);
  }

  /**
   * Requires that one of them leads to a certificate by RFC 5280, at a time.
   *
   * @param more that may lie between
   */
  void require(X509Certificate signer, List<X509Certificate> more, Instant at) {
    Set<TrustAnchor> anchors =
        roots.stream()
            .map(root -> new TrustAnchor(root, null))
            .collect(Collectors.toCollection(LinkedHashSet::new));
    X509CertSelector target = new X509CertSelector();
    target.setCertificate(signer);
    try {
      PKIXBuilderParameters parameters = new PKIXBuilderParameters(anchors, target);
      parameters.setDate(Date.from(at));
      parameters.setRevocationEnabled(false);
      parameters.addCertStore(
          CertStore.getInstance("Collection", new CollectionCertStoreParameters(more)));
      CertPathBuilder.getInstance("PKIX").build(parameters);
    } catch (GeneralSecurityException e) {
      throw new WritException(
          BundleError.STAMP_SIGNER,
          signer.getSubjectX500Principal() + ": no authority that is believed leads to it at " + at,
          e);
    }
  }
}
