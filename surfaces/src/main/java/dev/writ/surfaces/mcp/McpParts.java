package dev.writ.surfaces.mcp;

import dev.writ.executor.Kernel;
import dev.writ.gateway.v1.RunBundle;

/**
 * What the protocol works over.
 *
 * @param version of this program, as the client is told
 */
public record McpParts(
    Kernel kernel,
    McpTools tools,
    RunBundle bundles,
    McpAsker asker,
    McpSettings settings,
    String version) {}
