/** The one way from a surface into the kernel. */
package dev.writ.gateway.pipeline;
