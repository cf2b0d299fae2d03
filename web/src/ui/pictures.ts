import { useEffect, useMemo } from "react";

/** The address under which the page may show the bytes of a picture; undefined while there are none. */
export function useAddressOf(picture: Blob | undefined): string | undefined {
  const address = useMemo(() => (picture ? URL.createObjectURL(picture) : undefined), [picture]);
  useEffect(() => () => (address ? URL.revokeObjectURL(address) : undefined), [address]);
  return address;
}
