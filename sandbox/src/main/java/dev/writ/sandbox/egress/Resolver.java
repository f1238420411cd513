package dev.writ.sandbox.egress;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Resolves names, outside the sandbox. */
@FunctionalInterface
public interface Resolver {

  /** The host's own. */
  Resolver HOST = name -> List.of(InetAddress.getAllByName(name));

  List<InetAddress> resolve(String name) throws UnknownHostException;
}
