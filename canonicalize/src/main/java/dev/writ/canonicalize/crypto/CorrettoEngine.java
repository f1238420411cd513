package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.disk.NativeLibraries;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;

/**
 * Ed25519 by the Amazon Corretto Crypto Provider, found by reflection so that nothing needs it. It
 * verifies without the cofactor and compares R byte by byte: after our checks of the encodings its
 * yes implies Bouncy Castle's. The provider is passed by hand, never registered.
 */
final class CorrettoEngine extends SignatureEngine {
  private static final String PROVIDER =
      "com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider";

  /** Without it keys are the JDK's and every signature converts them, which halves the speed. */
  private static final String ED_KEY_FACTORY =
      "com.amazon.corretto.crypto.provider.registerEdKeyFactory";

  private static final String LIBRARY = "amazonCorrettoCryptoProvider";
  private static final String LIBRARY_FOLDER = "com/amazon/corretto/crypto/provider/";

  /** Has the provider ask the JVM for its library, instead of unpacking it at each start. */
  private static final String USE_EXTERNAL_LIBRARY =
      "com.amazon.corretto.crypto.provider.useExternalLib";

  /** Where it unpacks, into a new directory with a name of {@link #UNPACKED} and random digits. */
  private static final String TEMPORARY_DIRECTORY = "com.amazon.corretto.crypto.provider.tmpdir";

  private static final String UNPACKED = "amazonCorrettoCryptoProviderNativeLibraries.";

  private final Provider provider;

  private CorrettoEngine(Provider provider) {
    super(
        "Amazon Corretto Crypto Provider "
            + provider.getVersionStr()
            + ", with Bouncy Castle as the judge of what it does not accept");
    this.provider = provider;
  }

  /**
   * Loads the provider, and its native library from a private directory; takes about 300 ms.
   *
   * @throws ReflectiveOperationException where it is not on the class path
   * @throws LinkageError where its native library does not load
   * @throws GeneralSecurityException where it has no Ed25519
   */
  static CorrettoEngine load() throws ReflectiveOperationException, GeneralSecurityException {
    System.setProperty(ED_KEY_FACTORY, "true");
    Class<?> type = initialized();
    Provider provider = (Provider) type.getField("INSTANCE").get(null);
    if (type.getMethod("getLoadingError").invoke(provider) instanceof Throwable error) {
      throw new GeneralSecurityException("its native library does not load", error);
    }
    KeyFactory.getInstance("Ed25519", provider);
    Signature.getInstance("Ed25519", provider);
    return new CorrettoEngine(provider);
  }

  /** The provider's class loads the library when it is initialized. */
  private static Class<?> initialized() throws ClassNotFoundException {
    ClassLoader classes = CorrettoEngine.class.getClassLoader();
    Class<?> type = Class.forName(PROVIDER, false, classes);
    if (NativeLibraries.onLibraryPath()) {
      System.setProperty(USE_EXTERNAL_LIBRARY, "true");
      String file = System.mapLibraryName(LIBRARY);
      NativeLibraries.load(
          type, LIBRARY_FOLDER + file, file, _ -> Class.forName(PROVIDER, true, classes));
    } else {
      NativeLibraries.loadSelfUnpacking(
          UNPACKED,
          directory -> {
            System.setProperty(TEMPORARY_DIRECTORY, directory.toString());
            Class.forName(PROVIDER, true, classes);
          });
    }
    return type;
  }

  @Override
  byte[] sign(Ed25519Secret key, byte[] message) {
    try {
      return signNatively(key, message);
    } catch (GeneralSecurityException e) {
      // The bytes are the same whoever signs, so a failing provider costs time and nothing else.
      return SignatureEngines.bouncyCastle().sign(key, message);
    }
  }

  /** Signs; there is no other engine to fall back to. */
  byte[] signNatively(Ed25519Secret key, byte[] message) throws GeneralSecurityException {
    Signature signer = Signature.getInstance("Ed25519", provider);
    signer.initSign(nativeKey(key));
    signer.update(message);
    return signer.sign();
  }

  @Override
  boolean saysYes(Ed25519Public key, byte[] message, byte[] signature) {
    try {
      // One object for each operation: one that threads share signs and verifies wrongly, silently.
      Signature verifier = Signature.getInstance("Ed25519", provider);
      verifier.initVerify(nativeKey(key));
      verifier.update(message);
      return verifier.verify(signature);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  private PublicKey nativeKey(Ed25519Public key) throws GeneralSecurityException {
    PublicKey made = key.corretto();
    if (made == null) {
      made =
          KeyFactory.getInstance("Ed25519", provider)
              .generatePublic(new X509EncodedKeySpec(Pkcs8.ed25519SubjectPublicKeyInfo(key.raw())));
      key.corretto(made);
    }
    return made;
  }

  private PrivateKey nativeKey(Ed25519Secret key) throws GeneralSecurityException {
    PrivateKey made = key.corretto();
    if (made == null) {
      made =
          KeyFactory.getInstance("Ed25519", provider)
              .generatePrivate(
                  new PKCS8EncodedKeySpec(Pkcs8.encode(Algorithm.ED25519, key.seed())));
      key.corretto(made);
    }
    return made;
  }
}
