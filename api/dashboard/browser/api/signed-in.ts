import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Api } from './client.js';

/** The merchant who is signed in, for every screen. */
interface SignedIn {
  api: Api;
  livemode: boolean;
  /** The key may not change anything. */
  isReadOnly: boolean;
  signOut(sentence?: string): void;
}

export const SignedInContext = createContext<SignedIn | undefined>(undefined);

export function useSignedIn(): SignedIn {
  const signedIn = useContext(SignedInContext);
  if (signedIn === undefined) throw new Error('no screen is shown before the sign-in');
  return signedIn;
}
