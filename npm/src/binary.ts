const executable = process.platform === 'win32' ? 'mockserver.exe' : 'mockserver';

/** The optional package that contains the binary for this system. */
export const platformPackage = `@example/emailplatform-mock-${process.platform}-${process.arch}`;

/**
 * Returns the path of the binary: the environment variable MOCKSERVER, the platform package, or a bare name, which the
 * operating system looks up in PATH.
 */
export function findBinary(): string {
  const path = process.env['MOCKSERVER'];
  if (path) return path;
  try {
    return require.resolve(`${platformPackage}/bin/${executable}`);
  } catch {
    return executable;
  }
}
