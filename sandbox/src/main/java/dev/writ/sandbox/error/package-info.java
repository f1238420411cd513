/** Error codes of the sandbox (SBX). */
package dev.writ.sandbox.error;
