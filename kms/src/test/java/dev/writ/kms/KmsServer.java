package dev.writ.kms;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/**
 * Two operations of AWS KMS, GetPublicKey and Sign, over AWS JSON 1.1: it takes only requests whose
 * Signature Version 4 it computes itself, and signs with real keys. Tests give it faults.
 */
public final class KmsServer implements AutoCloseable {
  // The same as of the tests' object store: credentials are properties of the whole process.
  public static final String KEY_ID = "writ-tests";
  public static final String SECRET = "a-secret-of-the-tests";
  public static final String REGION = "eu-central-1";

  private static final String ACCOUNT = "111122223333";

  /** A key as the service has it. */
  private record Held(KeyPair pair, String spec, String usage) {}

  private record Fault(int status, String code) {}

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, Held> keys = new ConcurrentSkipListMap<>();
  private final Map<String, String> refusals = new ConcurrentSkipListMap<>();
  private final Deque<Fault> faults = new ArrayDeque<>();
  private final AtomicInteger signatures = new AtomicInteger();
  private final AtomicInteger calls = new AtomicInteger();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile UnaryOperator<byte[]> bent = signature -> signature;
  private volatile Optional<CyclicBarrier> together = Optional.empty();
  private volatile boolean isSilent;

  public KmsServer() throws IOException {
    System.setProperty("aws.accessKeyId", KEY_ID);
    System.setProperty("aws.secretAccessKey", SECRET);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  /** Makes a key, and gives its ARN. */
  public String make(String id, String spec) throws GeneralSecurityException {
    return make(id, spec, "SIGN_VERIFY");
  }

  String make(String id, String spec, String usage) throws GeneralSecurityException {
    boolean isCurve = spec.startsWith("ECC_NIST_P");
    String algorithm = isCurve ? "EC" : spec.startsWith("RSA") ? "RSA" : "Ed25519";
    KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
    if (isCurve) {
      String bits = spec.substring("ECC_NIST_P".length());
      generator.initialize(new ECGenParameterSpec("secp" + bits + "r1"));
    }
    String arn = arn(REGION, id);
    keys.put(arn, new Held(generator.generateKeyPair(), spec, usage));
    return arn;
  }

  static String arn(String region, String id) {
    return "arn:aws:kms:" + region + ":" + ACCOUNT + ":key/" + id;
  }

  /** The URI by which a key of this server is named. */
  public String uri(String arn) {
    return "awskms:" + arn + "?endpoint=" + endpoint();
  }

  String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** From now on each use of the key is refused with this code. */
  public void refuse(String arn, String code) {
    refusals.put(arn, code);
  }

  /** The key can be used again. */
  public void allow(String arn) {
    refusals.remove(arn);
  }

  /** The next calls are answered so. */
  void fail(int times, int status, String code) {
    synchronized (faults) {
      for (int i = 0; i < times; i++) {
        faults.add(new Fault(status, code));
      }
    }
  }

  /** From now on signatures are changed on their way. */
  void bend(UnaryOperator<byte[]> change) {
    bent = change;
  }

  /** From now on a signature is given only when so many are asked for at the same time. */
  public void together(int parties) {
    together = Optional.of(new CyclicBarrier(parties));
  }

  /** From now on nothing is answered. */
  void fallSilent() {
    isSilent = true;
  }

  /** How many signatures were made. */
  public int signatures() {
    return signatures.get();
  }

  int calls() {
    return calls.get();
  }

  private void answer(HttpExchange exchange) throws IOException {
    calls.incrementAndGet();
    byte[] body = exchange.getRequestBody().readAllBytes();
    try (exchange) {
      if (isSilent) {
        closed.await();
        return;
      }
      Optional<Fault> fault;
      synchronized (faults) {
        fault = Optional.ofNullable(faults.poll());
      }
      if (fault.isPresent()) {
        refuse(exchange, fault.get().status(), fault.get().code());
        return;
      }
      Optional<SignedCall> signed =
          SignedCall.read(name -> exchange.getRequestHeaders().getFirst(name), body, SECRET);
      if (signed.isEmpty()) {
        refuse(exchange, 400, "MissingAuthenticationTokenException");
      } else if (!signed.get().keyId().equals(KEY_ID)) {
        refuse(exchange, 400, "UnrecognizedClientException");
      } else if (!signed.get().holds()) {
        refuse(exchange, 400, "InvalidSignatureException");
      } else {
        serve(exchange, signed.get().region(), (JsonValue.Obj) Jcs.parse(body));
      }
    } catch (GeneralSecurityException e) {
      throw new IOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve(HttpExchange exchange, String region, JsonValue.Obj request)
      throws IOException, GeneralSecurityException, InterruptedException {
    String arn = text(request, "KeyId");
    Held key = arn.startsWith("arn:aws:kms:" + region + ":") ? keys.get(arn) : null;
    if (key == null) {
      refuse(exchange, 400, "NotFoundException");
      return;
    }
    if (refusals.containsKey(arn)) {
      refuse(exchange, 400, refusals.get(arn));
      return;
    }
    switch (exchange.getRequestHeaders().getFirst("X-Amz-Target")) {
      case "TrentService.GetPublicKey" ->
          send(
              exchange,
              200,
              JsonValue.object()
                  .put("KeyId", arn)
                  .put("KeySpec", key.spec())
                  .put("KeyUsage", key.usage())
                  .put("PublicKey", StrictBase64.encode(key.pair().getPublic().getEncoded()))
                  .build());
      case "TrentService.Sign" -> sign(exchange, arn, key, request);
      default -> refuse(exchange, 400, "UnknownOperationException");
    }
  }

  private void sign(HttpExchange exchange, String arn, Held key, JsonValue.Obj request)
      throws IOException, GeneralSecurityException, InterruptedException {
    byte[] message = StrictBase64.decode("Message", text(request, "Message"));
    String how = text(request, "SigningAlgorithm") + " " + text(request, "MessageType");
    boolean fits =
        switch (key.spec()) {
          case "ECC_NIST_P256" -> how.equals("ECDSA_SHA_256 DIGEST") && message.length == 32;
          case "ECC_NIST_EDWARDS25519" -> how.equals("ED25519_SHA_512 RAW");
          default -> false;
        };
    if (!fits || !key.usage().equals("SIGN_VERIFY")) {
      refuse(exchange, 400, "InvalidKeyUsageException");
      return;
    }
    if (message.length > 4096) {
      refuse(exchange, 400, "ValidationException");
      return;
    }
    Signature signer =
        Signature.getInstance(key.spec().equals("ECC_NIST_P256") ? "NONEwithECDSA" : "Ed25519");
    signer.initSign(key.pair().getPrivate());
    signer.update(message);
    signatures.incrementAndGet();
    if (together.isPresent()) {
      try {
        together.get().await();
      } catch (BrokenBarrierException e) {
        throw new IOException(e);
      }
    }
    send(
        exchange,
        200,
        JsonValue.object()
            .put("KeyId", arn)
            .put("Signature", StrictBase64.encode(bent.apply(signer.sign())))
            .put("SigningAlgorithm", text(request, "SigningAlgorithm"))
            .build());
  }

  private static String text(JsonValue.Obj request, String member) {
    return ((JsonValue.Str) request.get(member)).value();
  }

  private static void refuse(HttpExchange exchange, int status, String code) throws IOException {
    send(
        exchange,
        status,
        JsonValue.object().put("__type", code).put("message", "a text of the service").build());
  }

  private static void send(HttpExchange exchange, int status, JsonValue body) throws IOException {
    byte[] bytes = Jcs.write(body);
    exchange.getResponseHeaders().set("Content-Type", "application/x-amz-json-1.1");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    closed.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
