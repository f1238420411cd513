package dev.writ.kube;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.egress.EgressGate;
import java.net.Inet6Address;
import java.net.InetSocketAddress;

/** The port of this server on which pods reach the egress proxies of their commands. */
final class EgressProxies implements AutoCloseable {
  private final InetSocketAddress address;
  private final SandboxSettings settings;
  private final EgressGate gate;

  private EgressProxies(InetSocketAddress address, SandboxSettings settings, EgressGate gate) {
    this.address = address;
    this.settings = settings;
    this.gate = gate;
  }

  static EgressProxies open(InetSocketAddress address, SandboxSettings settings) {
    return new EgressProxies(address, settings, EgressGate.open(address));
  }

  /** A proxy for a command, with a credential of its own. */
  EgressGate.Pass admit(Command command) {
    return gate.admit(
        command.egress().stream().map(settings::placed).toList(),
        settings.resolver(),
        settings.tls());
  }

  /** The proxy's address for the command that has the pass. */
  String url(EgressGate.Pass pass) {
    String host = address.getAddress().getHostAddress();
    String shown = address.getAddress() instanceof Inet6Address ? "[" + host + "]" : host;
    return "http://" + pass.userInfo() + "@" + shown + ":" + address.getPort();
  }

  @Override
  public void close() {
    gate.close();
  }
}
