/** Gateways that share an installation: who owns which cell, told to callers and in metrics. */
package dev.writ.gateway.cell;
