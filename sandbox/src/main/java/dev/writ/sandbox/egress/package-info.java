/** The proxy that is the only network access of a sandbox. */
package dev.writ.sandbox.egress;
