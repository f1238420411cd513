package dev.writ.cli.demo;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.DERBitString;
import org.bouncycastle.asn1.DERSequence;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.ExtensionsGenerator;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x509.TBSCertificate;
import org.bouncycastle.asn1.x509.Time;
import org.bouncycastle.asn1.x509.V3TBSCertificateGenerator;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;

/**
 * A TLS identity for 127.0.0.1, self-signed and valid for a day; its key is in memory alone.
 *
 * @param server what a server speaks with
 * @param authority what a client has to trust, in PEM
 */
record LoopbackTls(SSLContext server, byte[] authority) {
  static final String ADDRESS = "127.0.0.1";

  private static final Duration LIFETIME = Duration.ofDays(1);

  static LoopbackTls make(Instant now, SecureRandom random) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(256, random);
      KeyPair pair = generator.generateKeyPair();
      byte[] der = certificate(pair, now, random);
      char[] password = new char[0];
      KeyStore keys = KeyStore.getInstance("PKCS12");
      keys.load(null, null);
      keys.setKeyEntry("server", pair.getPrivate(), password, new Certificate[] {parsed(der)});
      KeyManagerFactory managers =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      managers.init(keys, password);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(managers.getKeyManagers(), null, random);
      return new LoopbackTls(context, pem(der));
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("every JDK has EC and TLS", e);
    }
  }

  private static Certificate parsed(byte[] der) throws GeneralSecurityException {
    return CertificateFactory.getInstance("X.509")
        .generateCertificate(new ByteArrayInputStream(der));
  }

  private static byte[] certificate(KeyPair pair, Instant now, SecureRandom random)
      throws GeneralSecurityException, IOException {
    AlgorithmIdentifier algorithm = new AlgorithmIdentifier(X9ObjectIdentifiers.ecdsa_with_SHA256);
    X500Name name = new X500Name("CN=the demo of Writ");
    ExtensionsGenerator extensions = new ExtensionsGenerator();
    extensions.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
    extensions.addExtension(
        Extension.subjectAlternativeName,
        false,
        new GeneralNames(new GeneralName(GeneralName.iPAddress, ADDRESS)));
    V3TBSCertificateGenerator content = new V3TBSCertificateGenerator();
    content.setSerialNumber(new ASN1Integer(new BigInteger(64, random).add(BigInteger.ONE)));
    content.setSignature(algorithm);
    content.setIssuer(name);
    content.setSubject(name);
    content.setStartDate(new Time(Date.from(now.minus(LIFETIME))));
    content.setEndDate(new Time(Date.from(now.plus(LIFETIME))));
    content.setSubjectPublicKeyInfo(
        SubjectPublicKeyInfo.getInstance(pair.getPublic().getEncoded()));
    content.setExtensions(extensions.generate());
    TBSCertificate signed = content.generateTBSCertificate();
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(pair.getPrivate(), random);
    signature.update(signed.getEncoded("DER"));
    return new DERSequence(
            new ASN1Encodable[] {signed, algorithm, new DERBitString(signature.sign())})
        .getEncoded("DER");
  }

  private static byte[] pem(byte[] der) {
    return ("-----BEGIN CERTIFICATE-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
            + "\n-----END CERTIFICATE-----\n")
        .getBytes(StandardCharsets.US_ASCII);
  }
}
