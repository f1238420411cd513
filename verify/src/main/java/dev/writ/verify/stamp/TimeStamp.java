package dev.writ.verify.stamp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.error.BundleError;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.bouncycastle.asn1.ASN1Primitive;
import org.bouncycastle.asn1.cmp.PKIStatus;
import org.bouncycastle.asn1.nist.NISTObjectIdentifiers;
import org.bouncycastle.asn1.tsp.TimeStampResp;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cms.jcajce.JcaSimpleSignerInfoVerifierBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.tsp.GenTimeAccuracy;
import org.bouncycastle.tsp.TSPException;
import org.bouncycastle.tsp.TimeStampResponse;
import org.bouncycastle.tsp.TimeStampToken;

/**
 * The statement of a time stamp authority that bytes existed at a time (RFC 3161).
 *
 * @param by the subject of the certificate that signed it, as RFC 2253 writes it
 * @param at by the authority's clock
 */
public record TimeStamp(String by, Instant at) {
  /** A reply with a few certificates has a few KiB. */
  public static final int BYTES_MAX = 64 << 10;

  /** Digests that a signature may be over: SHA-256, SHA-384, SHA-512. */
  private static final Set<String> DIGESTS =
      new TreeSet<>(
          List.of(
              NISTObjectIdentifiers.id_sha256.getId(),
              NISTObjectIdentifiers.id_sha384.getId(),
              NISTObjectIdentifiers.id_sha512.getId()));

  /**
   * Verifies a reply, offline. Whether a certificate was revoked is not looked up.
   *
   * @param reply a TimeStampResp in DER, as a {@code .tsr} file has it
   * @param stamped SHA-256 of what it has to be about
   * @param request what was asked, where that is known: then its nonce must be in the reply
   * @throws WritException {@code RPL-087} for what is no reply with a stamp, {@code RPL-088} where
   *     it is of something else, {@code RPL-089} where its signer is not trusted to stamp
   */
  public static TimeStamp verify(
      byte[] reply, Digest stamped, Optional<StampRequest> request, StampAuthorities authorities) {
    try {
      return checked(reply, stamped, request, authorities);
    } catch (WritException e) {
      throw e;
    } catch (RuntimeException e) {
      // The library reads parts when they are asked for, and throws whatever it comes to.
      throw new WritException(
          BundleError.STAMP_FORM, "a part of it is not what RFC 3161 has there", e);
    }
  }

  private static TimeStamp checked(
      byte[] reply, Digest stamped, Optional<StampRequest> request, StampAuthorities authorities) {
    TimeStampToken token = token(reply);
    requireAbout(token, stamped, request);
    X509CertificateHolder signer = signer(token);
    requireSigned(token, signer);
    Instant at = token.getTimeStampInfo().getGenTime().toInstant();
    X509Certificate certificate = certificate(signer);
    authorities.require(certificate, certificates(token), at);
    return new TimeStamp(certificate.getSubjectX500Principal().getName(), at.plus(accuracy(token)));
  }

  /** What it proves of a checkpoint that was stamped. */
  public String says(Checkpoint checkpoint) {
    return "time stamp of "
        + by
        + ": the log had size "
        + checkpoint.size()
        + " and this root by "
        + at
        + " at the latest";
  }

  /** With the time in seconds since 1970. */
  public JsonValue toJson() {
    return JsonValue.object().put("by", by).put("time", at.getEpochSecond()).build();
  }

  private static TimeStampToken token(byte[] reply) {
    if (reply.length == 0) {
      throw new WritException(BundleError.STAMP_FORM, "it is empty");
    }
    if (reply.length > BYTES_MAX) {
      throw new WritException(BundleError.STAMP_FORM, "it has " + reply.length + " bytes");
    }
    TimeStampResponse response;
    try {
      // The reader of responses alone would let anything stand behind one.
      response =
          new TimeStampResponse(TimeStampResp.getInstance(ASN1Primitive.fromByteArray(reply)));
    } catch (TSPException | IOException | IllegalArgumentException | IllegalStateException e) {
      throw new WritException(
          BundleError.STAMP_FORM, "it is no reply in DER, or one that was cut or changed", e);
    }
    int status = response.getStatus();
    if (status != PKIStatus.GRANTED && status != PKIStatus.GRANTED_WITH_MODS) {
      throw new WritException(BundleError.STAMP_FORM, "the authority refused: status " + status);
    }
    if (response.getTimeStampToken() == null) {
      throw new WritException(BundleError.STAMP_FORM, "there is no stamp in it");
    }
    return response.getTimeStampToken();
  }

  private static void requireAbout(
      TimeStampToken token, Digest stamped, Optional<StampRequest> request) {
    var info = token.getTimeStampInfo();
    if (!info.getMessageImprintAlgOID().equals(NISTObjectIdentifiers.id_sha256)
        || !MessageDigest.isEqual(info.getMessageImprintDigest(), stamped.bytes())) {
      throw new WritException(BundleError.STAMP_OTHER, "it is not about " + stamped);
    }
    if (request.flatMap(StampRequest::nonce).filter(n -> !n.equals(info.getNonce())).isPresent()) {
      throw new WritException(BundleError.STAMP_OTHER, "its nonce is not the one that was sent");
    }
  }

  /** How much later than it says a stamp may have been made (RFC 3161, 2.4.2). */
  private static Duration accuracy(TimeStampToken token) {
    GenTimeAccuracy stated = token.getTimeStampInfo().getGenTimeAccuracy();
    if (stated == null) {
      return Duration.ZERO;
    }
    Duration accuracy =
        Duration.ofSeconds(stated.getSeconds())
            .plusMillis(stated.getMillis())
            .plus(stated.getMicros(), ChronoUnit.MICROS);
    if (stated.getSeconds() < 0) {
      throw new WritException(BundleError.STAMP_FORM, "its accuracy is less than nothing");
    }
    return accuracy;
  }

  private static X509CertificateHolder signer(TimeStampToken token) {
    @SuppressWarnings("unchecked")
    Collection<X509CertificateHolder> found = token.getCertificates().getMatches(token.getSID());
    if (found.size() != 1) {
      throw new WritException(
          BundleError.STAMP_SIGNER, "it has " + found.size() + " certificates of its signer");
    }
    return found.iterator().next();
  }

  /** Signature, purpose of the certificate, its digest in the stamp, and its validity then. */
  private static void requireSigned(TimeStampToken token, X509CertificateHolder signer) {
    String digest =
        token.toCMSSignedData().getSignerInfos().getSigners().iterator().next().getDigestAlgOID();
    if (!DIGESTS.contains(digest)) {
      throw new WritException(
          BundleError.STAMP_SIGNER, "its signature is over a digest of the kind " + digest);
    }
    try {
      token.validate(new JcaSimpleSignerInfoVerifierBuilder().build(signer));
    } catch (TSPException | OperatorCreationException | CertificateException e) {
      throw new WritException(
          BundleError.STAMP_SIGNER, signer.getSubject() + ": " + e.getMessage(), e);
    }
  }

  private static X509Certificate certificate(X509CertificateHolder holder) {
    try {
      return new JcaX509CertificateConverter().getCertificate(holder);
    } catch (CertificateException e) {
      throw new WritException(BundleError.STAMP_SIGNER, "a certificate cannot be read", e);
    }
  }

  private static List<X509Certificate> certificates(TimeStampToken token) {
    @SuppressWarnings("unchecked")
    Collection<X509CertificateHolder> all = token.getCertificates().getMatches(null);
    return all.stream().map(TimeStamp::certificate).toList();
  }
}
