package dev.writ.tools.http.call;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.egress.EgressClient;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.RuntimeRange;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.HttpApi;
import dev.writ.tools.http.HttpOperation;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.wasm.Preparation;
import dev.writ.tools.wasm.Texts;
import java.util.Objects;

/**
 * Sends the requests of tool packages that describe an HTTP API (spec/tool-http.md). It runs no
 * program: all that a call can do is the one request that its manifest describes.
 */
public final class HttpDriver implements Driver, AutoCloseable {
  public static final String NAME = "http";

  private final ProcessHost host;
  private EgressClient client;
  private boolean closed;

  /**
   * @param host has the installation's secrets, and its settings for what may be reached
   */
  public HttpDriver(ProcessHost host) {
    this.host = Objects.requireNonNull(host);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Determinism determinism() {
    return Determinism.RECORDED;
  }

  /**
   * @throws WritException {@code TOL-003}
   */
  @Override
  public Digest sandboxProfile(String profile) {
    if (!profile.equals(NAME)) {
      throw new WritException(
          ToolsError.PROFILE_UNKNOWN, Texts.message("\"" + profile + "\" for the driver " + NAME));
    }
    return Jcs.digest(
        JsonValue.object().put("driver", NAME).put("interface", 1).put("profile", NAME).build());
  }

  /**
   * @throws WritException {@code TOL-001} to {@code TOL-003}, {@code TOL-201}, {@code TOL-212},
   *     {@code TOL-250}, {@code TOL-251}, or that nothing may be sent from here
   */
  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    ToolManifest.Operation declared = Preparation.operation(this, manifest, operation);
    ToolManifest.PackageFile file =
        manifest.files().stream()
            .filter(f -> f.path().equals(ToolSource.FILE))
            .findFirst()
            .orElseThrow(() ->
                new WritException(
                    ToolsError.PACKAGE_FILES, manifest.name() + " has no " + ToolSource.FILE));
    ToolSource source = ToolSource.parse(content.read(file));
    Language.HTTP.requireSupported(RuntimeRange.of(source.runtime()));
    HttpApi api =
        source
            .http()
            .orElseThrow(() ->
                new WritException(ToolsError.HTTP_DESCRIPTION, manifest.name() + " has none"));
    HttpOperation described = api.operations().get(operation);
    requireSame(manifest, source, declared);
    SandboxSettings settings = host.requireSettings();
    EgressClient sender = client(settings);
    return invocation -> run(manifest, api, described, declared, settings, sender, invocation);
  }

  /**
   * Requires that the manifest, which was judged, says what the file says, which is sent: somebody
   * may have made the manifest by other means than {@code writ tool package}.
   */
  private static void requireSame(
      ToolManifest manifest, ToolSource source, ToolManifest.Operation declared) {
    boolean same =
        manifest.capabilities().hosts().equals(source.network())
            && manifest.capabilities().ownSecrets().equals(source.secrets())
            && source.operations().contains(declared);
    if (!same) {
      throw new WritException(
          ToolsError.PACKAGE_DIFFERS, manifest.name() + " states other hosts, secrets or schemas");
    }
  }

  private DriverOutcome run(
      ToolManifest manifest,
      HttpApi api,
      HttpOperation operation,
      ToolManifest.Operation declared,
      SandboxSettings settings,
      EgressClient sender,
      Invocation invocation) {
    RequestRun call =
        new RequestRun(
            api,
            operation,
            declared,
            settings,
            sender,
            invocation,
            () -> host.secrets().granted(manifest, invocation));
    return call.run();
  }

  private synchronized EgressClient client(SandboxSettings settings) {
    if (closed) {
      throw new WritException(ToolsError.DRIVERS_CLOSED, "the driver " + NAME);
    }
    if (client == null) {
      client = new EgressClient(settings.resolver(), settings.tls());
    }
    return client;
  }

  /** Ends every exchange. */
  @Override
  public synchronized void close() {
    closed = true;
    if (client != null) {
      client.close();
    }
  }
}
