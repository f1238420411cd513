package dev.writ.bench;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.HexFormat;
import java.util.Optional;
import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters;
import org.bouncycastle.crypto.params.Ed25519PublicKeyParameters;
import org.bouncycastle.crypto.signers.Ed25519Signer;

/** A library's own Ed25519, with one key, and nothing of ours around it. */
interface RawEd25519 {
  byte[] sign(byte[] message);

  /** Returns true, or throws: a floor that refuses measures nothing. */
  boolean verify(byte[] message, byte[] signature);

  private static boolean accepted(boolean yes) {
    if (!yes) {
      throw new IllegalStateException("the library refuses its own signature");
    }
    return true;
  }

  /** Bouncy Castle's lightweight API. */
  static RawEd25519 bouncyCastle(byte[] seed) {
    Ed25519PrivateKeyParameters key = new Ed25519PrivateKeyParameters(seed);
    Ed25519PublicKeyParameters half = key.generatePublicKey();
    return new RawEd25519() {
      @Override
      public byte[] sign(byte[] message) {
        Ed25519Signer signer = new Ed25519Signer();
        signer.init(true, key);
        signer.update(message, 0, message.length);
        return signer.generateSignature();
      }

      @Override
      public boolean verify(byte[] message, byte[] signature) {
        Ed25519Signer verifier = new Ed25519Signer();
        verifier.init(false, half);
        verifier.update(message, 0, message.length);
        return accepted(verifier.verifySignature(signature));
      }
    };
  }

  /** The Corretto provider through the JCA, with its own keys; none where it does not load. */
  static Optional<RawEd25519> corretto(byte[] seed) {
    if (!BenchEngines.hasCorretto()) {
      return Optional.empty();
    }
    HexFormat hex = HexFormat.of();
    byte[] half = new Ed25519PrivateKeyParameters(seed).generatePublicKey().getEncoded();
    try {
      Provider provider =
          (Provider)
              Class.forName("com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider")
                  .getField("INSTANCE")
                  .get(null);
      KeyFactory keys = KeyFactory.getInstance("Ed25519", provider);
      // RFC 8410, 7 and 4: what stands before the key's 32 bytes.
      PrivateKey secret =
          keys.generatePrivate(
              new PKCS8EncodedKeySpec(
                  hex.parseHex("302e020100300506032b657004220420" + hex.formatHex(seed))));
      PublicKey known =
          keys.generatePublic(
              new X509EncodedKeySpec(
                  hex.parseHex("302a300506032b6570032100" + hex.formatHex(half))));
      return Optional.of(new Jca(provider, secret, known));
    } catch (ReflectiveOperationException | GeneralSecurityException e) {
      throw new IllegalStateException("the Corretto provider loads and cannot be used", e);
    }
  }

  /** A provider's signatures; an object for each, since none may be shared. */
  record Jca(Provider provider, PrivateKey secret, PublicKey known) implements RawEd25519 {
    @Override
    public byte[] sign(byte[] message) {
      try {
        Signature signer = Signature.getInstance("Ed25519", provider);
        signer.initSign(secret);
        signer.update(message);
        return signer.sign();
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public boolean verify(byte[] message, byte[] signature) {
      try {
        Signature verifier = Signature.getInstance("Ed25519", provider);
        verifier.initVerify(known);
        verifier.update(message);
        return accepted(verifier.verify(signature));
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
